import type { Route } from './route.ts'

const registry = 'svc.registry'

/** How the registry is followed. */
export const followingRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/public/changes',
    summary: 'What happened since a revision, or as it happens',
    to: registry,
    action: 'watch_changes',
    query: { since: 'since', limit: 'limit' },
    unkept: true,
    events: { action: 'watch_changes', id: 'revision', after: 'since' },
  },
  {
    method: 'post',
    path: '/api/webhooks',
    summary: 'Have changes posted to an address',
    to: registry,
    action: 'create_webhook',
    body: 'whole',
    status: 201,
    unkept: true,
    gives: 'webhook',
  },
  {
    method: 'get',
    path: '/api/webhooks',
    summary: 'List your webhooks',
    to: registry,
    action: 'list_webhooks',
    unkept: true,
  },
  {
    method: 'get',
    path: '/api/webhooks/:id',
    summary: 'Read a webhook, with how its last deliveries went',
    to: registry,
    action: 'get_webhook',
    parameters: { id: 'webhook' },
    unkept: true,
  },
  {
    method: 'put',
    path: '/api/webhooks/:id',
    summary: 'Change a webhook, or enable it again',
    to: registry,
    action: 'update_webhook',
    parameters: { id: 'webhook' },
    body: 'whole',
    unkept: true,
  },
  {
    method: 'delete',
    path: '/api/webhooks/:id',
    summary: 'Delete a webhook',
    to: registry,
    action: 'delete_webhook',
    parameters: { id: 'webhook' },
    status: 204,
  },
]
