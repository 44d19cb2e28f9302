import { isRecord, type Json } from '../../../schemas/json.ts'
import type { Route, Shown } from './route.ts'

const playground = 'svc.playground'

function file(value: Json): Shown {
  const { text, media_type, filename } = isRecord(value) ? value : {}
  return { text: String(text), media_type: String(media_type), filename: String(filename) }
}

export const playgroundRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/api/playground/session',
    summary: 'Create a playground session',
    to: playground,
    action: 'create_session',
    body: 'whole',
    status: 201,
    gives: 'session',
  },
  {
    method: 'post',
    path: '/api/playground/session/:id/discover',
    summary: 'Discover agents in a session',
    to: playground,
    action: 'discover',
    parameters: { id: 'session' },
    body: 'whole',
  },
  {
    method: 'post',
    path: '/api/playground/session/:id/execute',
    summary: 'Execute a capability in a session',
    to: playground,
    action: 'execute',
    parameters: { id: 'session' },
    body: 'whole',
  },
  {
    method: 'get',
    path: '/api/playground/session/:id',
    summary: 'Read a session, or watch it',
    to: playground,
    action: 'get_session',
    parameters: { id: 'session' },
    query: { after: 'after' },
    unkept: true,
    fails: ['forbidden'],
    events: { action: 'watch_session', id: 'number', after: 'after' },
  },
  {
    method: 'get',
    path: '/api/playground/session/:id/export',
    summary: 'Export a session as something that runs',
    to: playground,
    action: 'export_session',
    parameters: { id: 'session' },
    query: { format: 'format' },
    unkept: true,
    fails: ['forbidden'],
    texts: ['application/x-sh', 'application/typescript', 'application/x-ndjson'],
    show: file,
  },
  {
    method: 'delete',
    path: '/api/playground/session/:id',
    summary: 'Delete a session',
    to: playground,
    action: 'delete_session',
    parameters: { id: 'session' },
    status: 204,
  },
]
