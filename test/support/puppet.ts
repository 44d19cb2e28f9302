import type { PackageProcess } from '../../src/runner/runner.ts'
import type { NpmRelease, WheelRelease } from './package-registry.ts'
import { lineClient } from './runner.ts'

/** A program that runs what it is sent: one function body a line, answered by its result or error. */
const script = `#!/usr/bin/env node
const lines = require('node:readline').createInterface({ input: process.stdin })
process.on('uncaughtException', () => {})
const AsyncFunction = (async () => {}).constructor
lines.on('line', async (line) => {
  const { code, input } = JSON.parse(line)
  let answer
  try {
    answer = { value: await new AsyncFunction('require', 'process', 'input', code)(require, process, input) }
  } catch (error) {
    answer = { error: error.code ?? error.message }
  }
  process.stdout.write(JSON.stringify(answer) + '\\n')
})
`

/** A package of npm that does what a test tells it, as a hostile package would. */
export const puppet: NpmRelease = {
  name: 'puppet',
  version: '1.0.0',
  files: { 'puppet.js': script },
  manifest: { bin: 'puppet.js' },
}

const python = `
import asyncio, json, sys

def main():
    for line in sys.stdin:
        message = json.loads(line)
        scope = {"input": message.get("input")}
        try:
            exec(message["code"], scope)
            answer = {"value": scope.get("result")}
        except BaseException as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
`

/** The same of PyPI; the code sets \`result\`. */
export const pythonPuppet: WheelRelease = {
  name: 'python_puppet',
  version: '1.0.0',
  files: { 'python_puppet/__init__.py': python },
  scripts: { 'python-puppet': 'python_puppet:main' },
}

type Answer = { readonly value?: unknown; readonly error?: string }

/** Runs the body of a function in a puppet. The function may use nothing but its parameters. */
export function commandPuppet(process: PackageProcess) {
  const send = lineClient(process)
  async function attempt<Input>(
    act: ((require: NodeJS.Require, process: NodeJS.Process, input: Input) => unknown) | string,
    input?: Input,
  ): Promise<Answer> {
    const code = typeof act === 'string' ? act : `return (${act.toString()})(require, process, input)`
    return (await send({ code, input })) as Answer
  }
  return attempt
}
