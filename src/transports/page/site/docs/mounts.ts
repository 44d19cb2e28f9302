import { Failure } from '../../../../../schemas/failure.ts'
import type { Mount } from '../../../http/app.ts'
import { overCost } from '../../../http/caller.ts'
import { openApi } from '../../../http/openapi/document.ts'
import { requestId } from '../../../http/request-id.ts'
import { send, sendFailure } from '../../../http/respond.ts'
import type { TransportContext } from '../../../shared/transport-context.ts'
import type { PageFrame } from '../site.ts'
import { queryOf, type View } from '../view.ts'
import { apiIndex, apiMethods, apiSchema, apiTag } from './api.ts'
import type { ApiDocument } from './api-document.ts'
import { docView, folderView, foundView } from './guide.ts'
import { createDocLibrary } from './library.ts'

/** The guides of the folder `docs`, and the reference of the API by the table that serves it. */
export function docMounts(
  context: TransportContext,
  { page }: PageFrame,
  { docs, version }: { readonly docs: URL; readonly version: string },
): Mount[] {
  const library = createDocLibrary(docs)
  const api = createApiPages(context, version)

  async function doc(name: string): Promise<View | { readonly location: string }> {
    const plain = name.replace(/\.md$/, '')
    const found = await library.find(plain)
    if (found && found.path !== `/docs/${name}` && name !== '') return { location: found.path }
    if (found) return docView(found)
    const inside = await library.list(plain)
    if (inside.length > 0) return folderView(plain, inside)
    throw new Failure('not_found', `There is no guide ${plain}.`, {
      hint: 'GET /docs?q= searches the guides.',
    })
  }

  return [
    page('/docs', async ({ request, count }) => {
      const query = queryOf(request).get('q') ?? ''
      if (query.trim() === '') return doc('')
      await count()
      return foundView(query, await library.search(query.slice(0, 1000)))
    }),
    page('/docs/api', async () => api('')),
    page('/docs/api/:tag', async ({ request }) => api(String(request.params.tag))),
    page('/docs/api/schemas/:schema', async ({ request }) => api(`schemas/${request.params.schema}`)),
    pictures(context, library),
    page('/docs/:name', async ({ request }) => doc(String(request.params.name))),
    page('/docs/:folder/:name', async ({ request: { params } }) => doc(`${params.folder}/${params.name}`)),
  ]
}

/** The pages of the API, each rendered once for an address of the gateway. */
function createApiPages(context: TransportContext, version: string): (name: string) => View {
  const pages = new Map<string, View>()
  let document: ApiDocument | undefined
  let base = ''

  function render(name: string, of: ApiDocument): View | undefined {
    if (name === '') return apiIndex(of)
    if (name === 'methods') return apiMethods(context.agents, base)
    const [kind, schema] = name.split('/', 2)
    return schema === undefined
      ? apiTag(of, name, base)
      : kind === 'schemas'
        ? apiSchema(of, schema)
        : undefined
  }

  return (name) => {
    const { base_url } = context.site()
    if (base_url !== base) pages.clear()
    base = base_url
    document ??= openApi(context.agents, version, base_url) as unknown as ApiDocument
    const view = pages.get(name) ?? render(name, document)
    if (!view) throw new Failure('not_found', `The API has no part ${name}.`, { hint: 'See /docs/api.' })
    pages.set(name, view)
    return view
  }
}

/** The pictures of the guides. Those of vectors may hold styles, and no scripts. */
function pictures(context: TransportContext, library: ReturnType<typeof createDocLibrary>): Mount {
  return {
    method: 'get',
    path: '/docs/pictures/:file',
    async handler(request, response) {
      const file = String(request.params.file)
      const picture = await library.picture(file)
      const missing = new Failure('not_found', `The guides have no picture ${file}.`)
      const failure = overCost(context, request) ?? missing
      if (!picture || failure !== missing)
        return sendFailure(context, request, response, failure, requestId(request))
      send(request, response, 200, picture.bytes, {
        'Content-Type': picture.type,
        'Cache-Control': 'public, max-age=3600',
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      })
    },
  }
}
