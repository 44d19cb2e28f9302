// Adds up the suites' results and prints the closing line. Exits 1 if any failed, a step failed, or none ran.
import { existsSync, readFileSync } from 'node:fs'

const [failedSteps = '0', ...files] = process.argv.slice(2)
const root = process.cwd()
const total = { passed: 0, failed: 0, skipped: 0 }
for (const file of files) {
  if (!existsSync(file)) {
    total.failed += 1
    console.log(`${file} was not written.`)
    continue
  }
  const results = JSON.parse(readFileSync(file, 'utf8'))
  const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites = 0 } = results
  for (const failure of failuresOf(results)) console.log(`FAILED ${failure}`)
  for (const retried of retriedOf(results)) console.log(`PASSED AT ITS SECOND TRY ${retried}`)
  total.passed += numPassedTests
  total.failed += numFailedTests || numFailedTestSuites
  total.skipped += numPendingTests
}
if (Number(failedSteps) > 0 && total.failed === 0) total.failed = Number(failedSteps)
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0

/** Which tests failed and on what, so that the end of a log says it. */
function failuresOf({ testResults = [] }) {
  return testResults.flatMap(({ name, message, assertionResults = [] }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    if (failed.length === 0 && message) return `${fileOf(name)}: ${message.split('\n')[0]}`
    return failed.map((one) => lineOf(name, one))
  })
}

/** Which tests passed only when they were run once more, and on what they failed before. */
function retriedOf({ testResults = [] }) {
  return testResults.flatMap(({ name, assertionResults = [] }) =>
    assertionResults
      .filter(({ status, failureMessages = [] }) => status === 'passed' && failureMessages.length > 0)
      .map((one) => lineOf(name, one)),
  )
}

function fileOf(path) {
  return path.replace(`${root}/`, '')
}

function lineOf(path, { fullName, failureMessages = [] }) {
  return `${fileOf(path)}: ${fullName}: ${failureMessages[0]?.split('\n')[0] ?? ''}`
}
