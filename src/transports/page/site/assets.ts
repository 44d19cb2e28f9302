import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Failure } from '../../../../schemas/failure.ts'
import type { Mount } from '../../http/app.ts'
import { overCost } from '../../http/caller.ts'
import { sendCoded } from '../../http/coded.ts'
import { requestId } from '../../http/request-id.ts'
import { send, sendFailure } from '../../http/respond.ts'
import type { TransportContext } from '../../shared/transport-context.ts'
import type { AssetPaths } from './layout.ts'

/** The files that pages load, by their names. */
export interface AssetFiles {
  readonly folder: URL
  readonly font: URL
}

const types = {
  'style.css': 'text/css; charset=utf-8',
  'theme.js': 'text/javascript; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'inter.woff2': 'font/woff2',
} as const

type AssetName = keyof typeof types

interface Assets {
  readonly paths: AssetPaths
  readonly mount: Mount
}

/** The files of the pages, at addresses with the hash of their content, so that browsers keep them. */
export function openAssets(
  context: Pick<TransportContext, 'limits' | 'trusted_proxies' | 'site'>,
  { folder, font }: AssetFiles,
): Assets {
  const names = Object.keys(types) as AssetName[]
  const files = new Map<string, Buffer>(
    names.map((name) => [name, readFileSync(name === 'inter.woff2' ? font : new URL(name, folder))]),
  )
  const hash = createHash('sha256')
  for (const content of files.values()) hash.update(content)
  const digest = hash.digest('base64url').slice(0, 12)
  const pathOf = (name: AssetName) => `/-/${digest}/${name}`
  return {
    paths: {
      style: pathOf('style.css'),
      theme: pathOf('theme.js'),
      script: pathOf('page.js'),
      icon: pathOf('icon.svg'),
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
        const type = types[file as AssetName]
        const isCurrent = request.params.digest === digest
        const headers = {
          'Content-Type': type,
          'Cache-Control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
        }
        const body = content ?? ''
        if (type === 'font/woff2') return send(request, response, 200, body, headers)
        await sendCoded(request, response, 200, body, headers, () => {})
      },
    },
  }
}
