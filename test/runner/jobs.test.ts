import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { openWorkspace, runJob } from '../../src/runner/packages/jobs.ts'
import type { Sandbox, SandboxedProcess } from '../../src/runner/sandbox/sandbox.ts'
import { temporaryFolder } from '../support/command.ts'

/** A process that runs until it is ended. */
function lasting(): SandboxedProcess {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const exited = Promise.withResolvers<Awaited<SandboxedProcess['exited']>>()
  return {
    pid: 1,
    stdin,
    stdout,
    stderr,
    exited: exited.promise,
    async [Symbol.asyncDispose]() {
      stdout.end()
      stderr.end()
      exited.resolve({ code: null, signal: 'SIGKILL', ending: 'disposed' })
    },
  }
}

const report = { kind: 'none', version: null, problem: null, limited: [], not_limited: [] } as const

describe('a tool of an installation', () => {
  test('ends when its caller leaves while it starts', async () => {
    await using folder = await temporaryFolder()
    await using work = await openWorkspace(folder.path, undefined)
    const controller = new AbortController()
    const sandbox: Sandbox = {
      report,
      async start() {
        controller.abort()
        return lasting()
      },
    }
    const job = {
      program: { command: ['tool'], reads: {} },
      args: [],
      work,
      hosts: [],
      certificates: undefined,
    }
    await expect(runJob(sandbox, job, controller.signal)).rejects.toMatchObject({ code: 'cancelled' })
  })
})
