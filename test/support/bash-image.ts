import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { PackageProcess } from '../../src/runner/runner.ts'

const execute = promisify(execFile)

/** Runs each line that it is sent and answers with one line; one that begins with `!` becomes the program itself. */
const puppet = `#!/bin/bash
while IFS= read -r line; do
  [[ $line == !* ]] && eval "\${line:1}"
  answer=$(eval "$line" 2>&1)
  printf '%s\\n' "\${answer//$'\\n'/|}"
done
`

/** A server of MCP in the shell's own language: it has one tool, which answers a variable. */
const server = `#!/bin/bash
echo started >&2
while IFS= read -r line; do
  [[ $line =~ \\"id\\":([^,}]+) ]] && id=\${BASH_REMATCH[1]}
  case $line in
    *'"initialize"'*) [[ $line =~ \\"protocolVersion\\":\\"([0-9-]+)\\" ]]
      result="{\\"protocolVersion\\":\\"\${BASH_REMATCH[1]}\\",\\"capabilities\\":{\\"tools\\":{}},\\"serverInfo\\":{\\"name\\":\\"image\\",\\"version\\":\\"1\\"}}" ;;
    *'"tools/list"'*) result='{"tools":[{"name":"greet","description":"Greets.","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) result="{\\"structuredContent\\":{\\"text\\":\\"Hello $GREETED $1\\"},\\"content\\":[]}" ;;
    *'"method":"notifications'*) continue ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"none"}}\\n' "$id"; continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
done
`

export interface BashImage extends AsyncDisposable {
  /** Such as localhost/dragoman-test-XXXX. */
  readonly name: string
  /** Replaces what the tag names. */
  import(tag: string, program: 'puppet' | 'server', changes?: readonly string[]): Promise<void>
}

/** An image with bash alone, made from this machine's own: no registry is needed. */
export async function makeBashImage(): Promise<BashImage> {
  const name = `localhost/dragoman-test-${randomUUID().slice(0, 8)}`
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-rootfs-'))
  const root = join(folder, 'root')
  const { stdout } = await execute('ldd', ['/bin/bash'])
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path)
  for (const path of ['/bin/bash', ...libraries]) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await copyFile(path, join(root, path))
  }
  await mkdir(join(root, 'tmp'))
  await chmod(join(root, 'tmp'), 0o1777)
  for (const [path, text] of Object.entries({ puppet, server })) {
    await writeFile(join(root, path), text)
    await chmod(join(root, path), 0o755)
  }
  const archive = join(folder, 'root.tar')
  await execute('tar', ['--create', '--file', archive, '--owner=0', '--group=0', '--directory', root, '.'])
  const tags = new Set<string>()
  return {
    name,
    async import(tag, program, changes = []) {
      tags.add(tag)
      const all = [`ENTRYPOINT ["/bin/bash", "/${program}"]`, ...changes].flatMap((change) => [
        '--change',
        change,
      ])
      await execute('podman', ['import', ...all, archive, `${name}:${tag}`])
    },
    async [Symbol.asyncDispose]() {
      for (const tag of tags) await execute('podman', ['rmi', '--force', `${name}:${tag}`]).catch(() => {})
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Sends lines of bash to a puppet of this kind; the lines of each answer are joined by bars. */
export function commandShell(process: PackageProcess) {
  let text = ''
  const waiting: ((line: string) => void)[] = []
  process.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      waiting.shift()?.(text.slice(0, end))
      text = text.slice(end + 1)
    }
  })
  return async (line: string): Promise<string> => {
    process.stdin.write(`${line}\n`)
    const answer = new Promise<string>((resolve) => waiting.push(resolve))
    const ended = process.exited.then((exit) => `ended: ${JSON.stringify(exit)} ${process.stderrTail()}`)
    return await Promise.race([answer, ended])
  }
}
