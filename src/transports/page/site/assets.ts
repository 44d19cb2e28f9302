import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Failure } from '../../../../schemas/failure.ts'
import type { Mount } from '../../http/app.ts'
import { overCost } from '../../http/caller.ts'
import { sendCoded } from '../../http/coded.ts'
import { requestId } from '../../http/request-id.ts'
import { send, sendFailure } from '../../http/respond.ts'
import type { TransportContext } from '../../shared/transport-context.ts'

/** The files that pages load, by their names. */
export interface AssetFiles {
  readonly folder: URL
  readonly font: URL
}

/** The parts of the style sheet, in their order. */
const styles = ['base', 'search', 'agent', 'me', 'docs', 'status', 'play'] as const

/** The scripts of single pages, each in one file with the one of all pages: one request less. */
const scripts = { call: ['call'], play: ['call', 'play'], publish: ['publish'] } as const

export type ScriptName = keyof typeof scripts

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** Addresses of the files that every page loads. */
export interface AssetPaths {
  readonly style: string
  readonly theme: string
  /** The script of most pages, and those of single pages. */
  readonly scripts: Readonly<Record<ScriptName | 'page', string>>
  readonly icon: string
  /** The icon itself as an address, so that a page needs no request for it. */
  readonly inlineIcon: string
  readonly font: string
}

interface Assets {
  readonly paths: AssetPaths
  readonly mount: Mount
}

/** One module of several, which import the first; blocks keep the names of the others apart. */
function joined(first: Buffer, others: readonly Buffer[]): Buffer {
  const blocks = others.map((each) => `{\n${each.toString().replace(/^import .*$/m, '')}}\n`)
  return Buffer.from(first.toString().replaceAll(/^export /gm, '') + blocks.join(''))
}

/** A script or a style as browsers get it: without comments and indents. */
function bare(content: Buffer): Buffer {
  const text = content.toString().replace(/^\s*(?:\/\*(?:(?!\*\/)[\s\S])*\*\/|\/\/.*)\n/gm, '')
  return Buffer.from(text.replace(/^\s+/gm, ''))
}

/** The files of the pages, at addresses with the hash of their content, so that browsers keep them. */
export function openAssets(
  context: Pick<TransportContext, 'limits' | 'trusted_proxies' | 'site'>,
  { folder, font }: AssetFiles,
): Assets {
  const read = (name: string) => readFileSync(new URL(name, folder))
  const icon = read('icon.svg')
  const files = new Map<string, Buffer>([
    ['style.css', bare(Buffer.concat(styles.map((name) => read(`styles/${name}.css`))))],
    ['inter.woff2', readFileSync(font)],
    ['icon.svg', icon],
    ...['theme.js', 'page.js'].map((name) => [name, bare(read(name))] as const),
    ...Object.entries(scripts).map(([name, parts]) => {
      const others = parts.map((part) => read(`${part}.js`))
      return [`${name}.js`, bare(joined(read('page.js'), others))] as const
    }),
  ])
  const hash = createHash('sha256')
  for (const content of files.values()) hash.update(content)
  const digest = hash.digest('base64url').slice(0, 12)
  const pathOf = (name: string) => `/-/${digest}/${name}`
  return {
    paths: {
      style: pathOf('style.css'),
      theme: pathOf('theme.js'),
      scripts: {
        page: pathOf('page.js'),
        call: pathOf('call.js'),
        play: pathOf('play.js'),
        publish: pathOf('publish.js'),
      },
      icon: pathOf('icon.svg'),
      inlineIcon: `data:image/svg+xml,${encodeURIComponent(icon.toString().trim())}`,
      font: pathOf('inter.woff2'),
    },
    mount: {
      method: 'get',
      path: '/-/:digest/:file',
      async handler(request, response) {
        const { file } = request.params
        const content = files.get(String(file))
        const failure =
          overCost(context, request) ??
          (content ? undefined : new Failure('not_found', `The pages have no file ${file}.`))
        if (failure) return sendFailure(context, request, response, failure, requestId(request))
        const type = types[String(file).split('.').at(-1) ?? ''] ?? ''
        const isCurrent = request.params.digest === digest
        const headers = {
          'Content-Type': type,
          'Cache-Control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
        }
        const body = content ?? ''
        if (type === 'font/woff2') return send(request, response, 200, body, headers)
        await sendCoded(request, response, 200, body, headers, () => {}, 'best')
      },
    },
  }
}
