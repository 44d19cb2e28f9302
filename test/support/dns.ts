import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type Answer, decode, encode, type Packet } from 'dns-packet'

/** The server's reaction to a question: records, or a fault. */
type Reply =
  | { readonly txt: readonly (string | readonly string[])[] }
  | { readonly cname: string }
  /** Answers with these records under another name than the one asked for. */
  | { readonly txt_of: string; readonly txt: readonly string[] }
  /** Answers the question of another name. */
  | { readonly question: string; readonly txt: readonly string[] }
  | { readonly wrong_id: readonly string[] }
  | { readonly rcode: 'SERVFAIL' | 'REFUSED' | 'NXDOMAIN' | 'NOERROR' }
  | 'silence'
  | 'garbage'

export interface DnsServer extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly address: string
  /** The names in questions, in order. */
  readonly questions: readonly string[]
  /** Sets the replies for a name. Several replies are used one by one; the last one is repeated. */
  set(name: string, ...replies: readonly Reply[]): void
  /** Shorthand for TXT records of one string each. */
  txt(name: string, ...records: readonly string[]): void
  clear(name: string): void
}

const codes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 }

/** A real name server over UDP on a free port of 127.0.0.1. A name that was never set does not exist. */
export async function serveDns(): Promise<DnsServer> {
  const replies = new Map<string, Reply[]>()
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message, { port, address }) => {
    const query = decode(message)
    const name = query.questions?.[0]?.name.toLowerCase() ?? ''
    questions.push(name)
    const queue = replies.get(name) ?? []
    const reply = (queue.length > 1 ? queue.shift() : queue[0]) ?? { rcode: 'NXDOMAIN' }
    if (reply === 'silence') return
    const answer = reply === 'garbage' ? Buffer.from('nonsense') : encode(packet(query, name, reply, replies))
    socket.send(answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')

  function set(name: string, ...next: readonly Reply[]): void {
    replies.set(name, [...next])
  }

  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    set,
    txt: (name, ...records) => set(name, { txt: records }),
    clear: (name) => void replies.delete(name),
    async [Symbol.asyncDispose]() {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}

function packet(
  query: Packet,
  name: string,
  reply: Exclude<Reply, string>,
  replies: ReadonlyMap<string, readonly Reply[]>,
): Packet {
  const id = query.id ?? 0
  const base = { type: 'response' as const, questions: query.questions ?? [], flags: 0x0180 }
  if ('rcode' in reply) return { ...base, id, flags: base.flags | codes[reply.rcode] }
  if ('wrong_id' in reply) return { ...base, id: id ^ 1, answers: records(name, reply.wrong_id) }
  if ('question' in reply) {
    const questions = [{ name: reply.question, type: 'TXT' as const }]
    return { ...base, id, questions, answers: records(reply.question, reply.txt) }
  }
  if ('txt_of' in reply) return { ...base, id, answers: records(reply.txt_of, reply.txt) }
  if ('txt' in reply) return { ...base, id, answers: records(name, reply.txt) }
  return { ...base, id, answers: chain(name, replies) }
}

/** A CNAME and its target, in the order of a recursive server; a loop is returned unchanged. */
function chain(name: string, replies: ReadonlyMap<string, readonly Reply[]>): Answer[] {
  const answers: Answer[] = []
  const seen = new Set<string>()
  let at = name
  while (!seen.has(at)) {
    seen.add(at)
    const reply = replies.get(at)?.[0]
    if (reply === undefined || typeof reply === 'string') break
    if ('cname' in reply) {
      answers.push({ name: at, type: 'CNAME', ttl: 0, data: reply.cname })
      at = reply.cname
    } else if ('txt' in reply) {
      answers.push(...records(at, reply.txt))
      break
    } else break
  }
  return answers
}

function records(name: string, txt: readonly (string | readonly string[])[]): Answer[] {
  return txt.map((record) => ({
    name,
    type: 'TXT',
    ttl: 0,
    data: typeof record === 'string' ? chunked(record) : [...record],
  }))
}

/** A string of a record holds 255 bytes at most (RFC 1035, 3.3). */
function chunked(text: string): string[] {
  return text.match(/[\s\S]{1,255}/g) ?? ['']
}
