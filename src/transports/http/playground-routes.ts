import { isRecord, type Json } from '../../../schemas/json.ts'
import { type Route, routesOf, type Shown } from './route.ts'

const playground = routesOf('svc.playground', 'Playground')

function file(value: Json): Shown {
  const { text, media_type, filename } = isRecord(value) ? value : {}
  return { text: String(text), media_type: String(media_type), filename: String(filename) }
}

export const playgroundRoutes: readonly Route[] = [
  playground('POST /api/playground/session', 'createSession', {
    action: 'create_session',
    status: 201,
    location: '/api/playground/session',
    gives: 'session',
  }),
  playground('POST /api/playground/session/:session/discover', 'discoverInSession'),
  playground('POST /api/playground/session/:session/execute', 'executeInSession'),
  playground('GET /api/playground/session/:session', 'getSession', {
    action: 'get_session',
    query: { after: 'after' },
    uncached: true,
    fails: ['forbidden'],
    events: { action: 'watch_session', id: 'number', after: 'after' },
  }),
  playground('GET /api/playground/session/:session/export', 'exportSession', {
    action: 'export_session',
    query: { format: 'format' },
    uncached: true,
    fails: ['forbidden'],
    texts: ['text/x-shellscript', 'application/typescript', 'application/x-ndjson'],
    show: file,
  }),
  playground('DELETE /api/playground/session/:session', 'deleteSession', { action: 'delete_session' }),
]
