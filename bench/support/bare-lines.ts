// A bare echo of lines: parses each line and answers with the same JSON under the id of the request.
import { createInterface } from 'node:readline'
import { announce } from './measure.ts'

const answer: unknown = JSON.parse(process.env.BENCH_ANSWER ?? '{}')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line)
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer })}\n`)
})
announce('stdio')
