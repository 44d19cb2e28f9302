// The official A2A SDK behind Express. Its executor answers each message with the same message and no task.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentCard, Message } from '@a2a-js/sdk'
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'
import { announce } from './measure.ts'

const answer = Message.fromJSON(JSON.parse(process.env.BENCH_ANSWER ?? '{}'))
const card = AgentCard.fromJSON({
  name: 'bench',
  description: 'Answers at once.',
  version: '1',
  capabilities: {},
  supportedInterfaces: ['JSONRPC', 'HTTP+JSON'].map((protocolBinding) => ({
    url: '/a2a/v1',
    protocolBinding,
    protocolVersion: '1.0',
  })),
})
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), {
  async execute({ contextId }, bus) {
    bus.publish(AgentEvent.message({ ...answer, contextId }))
    bus.finished()
  },
  async cancelTask() {},
})
const options = { requestHandler, userBuilder: UserBuilder.noAuthentication }
const app = express()
app.use('/a2a/v1', jsonRpcHandler(options))
app.use('/a2a/v1', restHandler(options))
const server = createServer(app)
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
