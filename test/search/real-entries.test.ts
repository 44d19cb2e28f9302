import { describe, expect, it } from 'vitest'
import { ask, indexOf } from './support/documents.ts'
import { haveRealEntries, realEntries } from './support/real-entries.ts'

const where = haveRealEntries ? '' : ' (skipped: ../shared/data is not here)'

describe.skipIf(!haveRealEntries)(`over 4,677 real servers and agents${where}`, async () => {
  const documents = haveRealEntries ? realEntries() : []
  const byId = new Map(documents.map((document) => [document.id, document]))
  const index = await indexOf(documents)

  it.each([
    ['send an email', /mail/i],
    ['convert a web page to markdown', /markdown|html|web|fetch|page/i],
    ['12306 火车票', /12306/],
    ['query a postgres database', /postgres|sql/i],
    ['translate text to German', /translat/i],
    ['create a github issue', /github/i],
    ['search academic papers on arxiv', /arxiv/i],
    ['transcribe a youtube video', /youtube/i],
    ['manage kubernetes pods', /kubernetes|k8s/i],
    ['exa-mcp-server', /exa/i],
  ])('"%s" finds a suitable agent among the first three', async (text, fitting) => {
    const { hits } = await ask(index, { text, limit: 3 })
    const answers = hits.map(({ id }) => `${byId.get(id)?.name}: ${byId.get(id)?.description}`)
    expect(answers.filter((answer) => fitting.test(answer))).not.toEqual([])
  })

  it('finds every entry by its package name, first', async () => {
    for (const { id, package_name } of documents.filter((_, at) => at % 40 === 0)) {
      const { hits } = await ask(index, { text: package_name, limit: 5 })
      const first = byId.get(hits[0]!.id)!
      expect([first.package_name, hits.some((hit) => hit.id === id)]).toEqual([package_name, true])
    }
  })
})
