/**
 * Draws the picture of the README: runs commands over a list of MCP servers and a page on this machine, and writes what
 * they print as an SVG.
 *
 *     node scripts/terminal-picture.ts LIST.jsonl docs/pictures/terminal.svg
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const command = resolve(import.meta.dirname, '../bin/dragoman.js')
const columns = 110
const size = { character: 8.43, line: 19, margin: 18 }
const colours: Readonly<Record<string, string>> = {
  31: '#f47067',
  32: '#6bc46d',
  33: '#daaa3f',
  34: '#6cb6ff',
  35: '#dcbdfb',
  36: '#76e3ea',
  90: '#768390',
}
const page =
  '<html><head><title>Lunch</title></head><body><main><h1>Lunch</h1><ul><li>Lentil soup</li><li>Bread</li></ul></main></body></html>'

const escapeCharacter = '\u001b'
const sequences = new RegExp(`(${escapeCharacter}\\[[\\d;]*m)`)
const sequence = new RegExp(`^${escapeCharacter}\\[([\\d;]*)m$`)
/** A line of progress, which the command erases at its end. */
const erased = new RegExp(`^.*${escapeCharacter}\\[K`, 'gm')

const [list, picture] = process.argv.slice(2)
if (list === undefined || picture === undefined) throw new Error('Give a list and the path of the picture.')
const data = await mkdtemp(join(tmpdir(), 'dragoman-picture-'))
// Its name is that of an installed command, which hints print.
await symlink(command, join(data, 'dragoman'))
const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(page))
await once(server.listen(0, '127.0.0.1'), 'listening')
const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** Runs one command line in a terminal of its own (util-linux), and returns what it prints with its colours. */
async function shell(line: string): Promise<string> {
  const text = `stty cols ${columns}; dragoman() { ${process.execPath} ${join(data, 'dragoman')} "$@"; }; ${line}`
  const { stdout } = await promisify(execFile)('script', ['-qec', `bash -c ${quoted(text)}`, '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      TERM: 'xterm',
      DRAGOMAN_DATA: data,
      DRAGOMAN_ALLOW_ORIGINS: site,
      PAGER: 'cat',
    },
  })
  return stdout.replaceAll('\r', '').replaceAll(erased, '').trimEnd()
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** One line with SGR sequences as spans of SVG. */
function spansOf(line: string): string {
  let style = ''
  return line
    .split(sequences)
    .flatMap((part) => {
      const codes = sequence.exec(part)?.[1]
      if (codes === undefined) return part === '' ? [] : [`<tspan${style}>${escapeXml(part)}</tspan>`]
      for (const code of codes.split(';')) {
        if (code === '1') style = ' font-weight="700"'
        else if (code in colours) style = ` fill="${colours[code]}"`
        else style = ''
      }
      return []
    })
    .join('')
}

function draw(lines: readonly string[]): string {
  const width = Math.ceil(columns * size.character) + 2 * size.margin
  const height = lines.length * size.line + 2 * size.margin
  const rows = lines.map((line, row) => {
    const y = size.margin + (row + 0.75) * size.line
    return `<text x="${size.margin}" y="${y}" style="animation-delay:${(row * 0.12).toFixed(2)}s">${spansOf(line)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: a search for rain finds weather agents, and a call answers">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#cdd9e5;white-space:pre;animation:appear .2s both}
@keyframes appear{from{opacity:0}}
@media (prefers-reduced-motion:reduce){text{animation:none}}
</style>
<rect width="100%" height="100%" rx="8" fill="#1c2128"/>
${rows.join('\n')}
</svg>
`
}

try {
  await shell(`dragoman import ${resolve(list)}`)
  const commands = [
    'dragoman search will it rain tomorrow --limit 4',
    `dragoman call svc.utility.reader extract_content '${JSON.stringify({ url: `${site}/lunch` })}' | jq -r .markdown`,
  ]
  const shown: [string, string][] = []
  for (const line of commands) shown.push([line, await shell(line)])
  const lines = shown.flatMap(([line, output]) => [
    `\u001b[32m$\u001b[0m \u001b[1m${line}\u001b[0m`,
    ...output.split('\n').slice(0, 18),
    '',
  ])
  await mkdir(dirname(picture), { recursive: true })
  await writeFile(picture, draw(lines.slice(0, -1)))
} finally {
  server.close()
  await rm(data, { recursive: true, force: true })
}
