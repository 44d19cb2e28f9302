// Adds up the suites' results and prints the closing line. Exits 1 if any failed, a step failed, or none ran.
import { existsSync, readFileSync } from 'node:fs'

const [failedSteps = '0', ...files] = process.argv.slice(2)
const total = { passed: 0, failed: 0, skipped: 0 }
for (const file of files) {
  if (!existsSync(file)) {
    total.failed += 1
    console.log(`${file} was not written.`)
    continue
  }
  const {
    numPassedTests,
    numFailedTests,
    numPendingTests,
    numFailedTestSuites = 0,
  } = JSON.parse(readFileSync(file, 'utf8'))
  total.passed += numPassedTests
  total.failed += numFailedTests || numFailedTestSuites
  total.skipped += numPendingTests
}
if (Number(failedSteps) > 0 && total.failed === 0) total.failed = Number(failedSteps)
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
