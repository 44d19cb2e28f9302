import { type Agent, defineAgent } from '../../schemas/action.ts'
import { testTag } from '../../schemas/names.ts'
import { getSummary } from './get-summary.ts'
import { lookup } from './lookup.ts'
import { createMediaWiki, type WikiPorts } from './mediawiki.ts'
import { searchPage } from './search-page.ts'

/** Agent `svc.utility.wiki`: pages of Wikipedia, or of any other MediaWiki. */
export function createWiki(ports: WikiPorts): Agent {
  const wiki = createMediaWiki(ports)
  return defineAgent({
    package_name: 'svc.utility.wiki',
    name: 'Wiki',
    description:
      'Looks up people, places and subjects in an encyclopedia such as Wikipedia: searches its pages and gives the summary of an article.',
    tags: [testTag],
    category: 'utilities',
    target: 'developer',
    actions: [searchPage(wiki), getSummary(wiki), lookup(wiki)],
  })
}
