import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/command.ts'
import { guideOf } from '../../support/documents.ts'
import { startSite } from './support.ts'

const guide = guideOf('verification.md')

function example(name: string): string {
  const [, code] = new RegExp(`^\`\`\`sh ${name}\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide) ?? []
  if (code === undefined) throw new Error(`docs/verification.md has no example ${name}.`)
  return code
}

const run = promisify(execFile)

test('the commands of the guide make a key and signatures that prove a domain', async () => {
  await using folder = await temporaryFolder()
  await using site = await startSite()
  const token = 'x'.repeat(43)
  const shell = async (script: string) => {
    const environment = { ...process.env, TOKEN: token }
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder.path,
      env: environment,
    })
    return stdout.trim()
  }
  site.dns.txt('example.com', await shell(example('key')))
  for (const name of ['openssl', 'node']) {
    const signature = await shell(example(name))
    const { proof, attempts } = await site.prove(
      { domain: 'example.com', token, method: 'mcp', signature },
      new AbortController().signal,
    )
    expect(proof, `${name}: ${attempts[0]?.detail}`).toMatchObject({ method: 'mcp', signature })
  }
})
