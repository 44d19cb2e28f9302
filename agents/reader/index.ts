import { type Agent, defineAgent } from '../../schemas/action.ts'
import { testTag } from '../../schemas/names.ts'
import type { DocumentPorts } from './document.ts'
import { createDocumentCache } from './document-cache.ts'
import { extractContent } from './extract-content.ts'
import { createPoliteFetch } from './polite-fetch.ts'
import type { FetchPage } from './port.ts'

type ReaderPorts = Omit<DocumentPorts, 'fetch'> & { readonly fetch: FetchPage }

/** Agent `svc.utility.reader`: web pages as clean Markdown. */
export function createReader(ports: ReaderPorts): Agent {
  const cache = createDocumentCache({ ...ports, fetch: createPoliteFetch(ports.fetch, ports.clock) })
  return defineAgent({
    package_name: 'svc.utility.reader',
    name: 'Reader',
    description: 'Reads web pages, articles, PDFs and feeds and returns their main text as clean Markdown.',
    tags: [testTag],
    category: 'utilities',
    target: 'developer',
    actions: [extractContent(cache)],
  })
}
