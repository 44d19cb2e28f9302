import type { Principal } from '../../../schemas/scope.ts'
import type { AnyServer, ChangedServers, ListedServer, ServerStatusInput } from '../../../schemas/server.ts'
import type { Site } from '../../../schemas/site.ts'
import type { Store } from '../../store/store.ts'
import type { Editor, EditorOptions } from '../entry/editor.ts'
import type { Views } from '../entry/view.ts'
import type { SearchService } from '../queries/search-service.ts'
import { createPublishServer } from './publish-server.ts'
import { createServerRenderer } from './render-server.ts'
import { createServerStatus } from './server-status.ts'
import { ServerCatalog } from './servers.ts'
import { validateServer } from './validate-server.ts'

interface CatalogOptions extends Pick<EditorOptions, 'clock' | 'createId' | 'names'> {
  readonly store: Store
  readonly editor: Pick<Editor, 'commit'>
  readonly views: Views
  readonly site: () => Site
  readonly search: SearchService['search']
  /** Resolves once searches see a revision. */
  readonly applied: (revision: number) => Promise<void>
}

/** The agents as the API of the MCP registry lists, publishes and deprecates them. */
export function createCatalog({ applied, ...options }: CatalogOptions) {
  const { store, views, site, search } = options
  const render = createServerRenderer(store, views, site)
  const catalog = new ServerCatalog({ servers: store.servers, search, render })
  const publish = createPublishServer(options)
  const setStatus = createServerStatus(options)
  return {
    list: catalog.list.bind(catalog),
    versions: catalog.versions.bind(catalog),
    get: catalog.get.bind(catalog),
    validate: validateServer,
    async publish(document: AnyServer, caller: Principal): Promise<ListedServer> {
      const { name, version } = await publish(document, caller)
      return await catalog.get(name, version, true)
    },
    async setStatus(input: ServerStatusInput, caller: Principal): Promise<ChangedServers> {
      const { rows, revision } = await setStatus(input, caller)
      await applied(revision)
      return { updatedCount: rows.length, servers: await render(rows.map((row) => ({ row }))) }
    },
  }
}
