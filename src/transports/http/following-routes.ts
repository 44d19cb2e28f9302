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
]
