import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The results of a suite of others, in the form in which those of vitest are summed up. */
export class Results {
  passed = 0
  pending = 0
  readonly #failures: { fullName: string; status: 'failed'; failureMessages: string[] }[] = []

  fail(fullName: string, message: string): void {
    this.#failures.push({ fullName, status: 'failed', failureMessages: [message] })
  }

  /** Writes them to a file, and lets the process fail if a test has. */
  async write(path: string, name: string): Promise<void> {
    const numFailedTests = this.#failures.length
    const counts = { numPassedTests: this.passed, numFailedTests, numPendingTests: this.pending }
    await mkdir(dirname(path), { recursive: true })
    const testResults = [{ name, assertionResults: this.#failures }]
    await writeFile(path, JSON.stringify({ ...counts, testResults }))
    process.exitCode = numFailedTests > 0 ? 1 : 0
  }
}
