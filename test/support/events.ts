/** A received server-sent event; `data` is parsed as JSON. */
interface ReceivedEvent {
  readonly event: string | undefined
  readonly id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events freely
  readonly data: any
}

/** The events of an answer as they arrive; comments and retry times are left out. */
export async function* eventsOf(answer: Response): AsyncGenerator<ReceivedEvent> {
  let text = ''
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) if (block.includes('data: ')) yield eventIn(block)
  }
}

function eventIn(block: string): ReceivedEvent {
  const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
  return { event: fields.get('event'), id: fields.get('id'), data: JSON.parse(fields.get('data') ?? '') }
}

/** The next `count` events. */
export async function take(events: AsyncGenerator<ReceivedEvent>, count: number): Promise<ReceivedEvent[]> {
  const taken: ReceivedEvent[] = []
  while (taken.length < count) {
    const next = await events.next()
    if (next.done) break
    taken.push(next.value)
  }
  return taken
}
