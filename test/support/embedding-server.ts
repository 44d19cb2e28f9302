import { serve } from '../net/support.ts'

/** An endpoint of embeddings: vectors of 4 numbers by whether a text speaks of rain. Lists the texts in `embedded`. */
export async function embeddingServer() {
  const embedded: string[] = []
  const server = await serve(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { input } = JSON.parse(text) as { input: string[] }
    embedded.push(...input)
    const data = input.map((item, index) => ({
      index,
      embedding: /umbrella|rain/i.test(item) ? [1, 0, 0, 0.1] : [0, 1, 0.1, 0],
    }))
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ data }))
  })
  return {
    url: `${server.origin}/v1`,
    embedded,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
