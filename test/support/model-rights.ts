/** The actions of the hosted agents that a model may call only if its user lets it manage what is stored. */
export const changing = [
  'accept_transfer',
  'check',
  'claim',
  'create_session',
  'delete',
  'delete_credential',
  'delete_key',
  'delete_personal_data',
  'delete_session',
  'delete_webhook',
  'deprecate',
  'discover',
  'go_live',
  'publish',
  'publish_server',
  'report',
  'revoke',
  'set_server_status',
  'transfer',
  'unpublish',
  'update',
  'update_webhook',
  'verify',
] as const

/** The actions that no model may call: they handle secrets, or need an operator. */
export const forbidden = [
  'add_mirror',
  'approve_package',
  'create_key',
  'create_webhook',
  'import_entries',
  'list_approvals',
  'list_events',
  'list_mirrors',
  'list_quotas',
  'list_suspensions',
  'log_in_by_domain',
  'purge',
  'remove_mirror',
  'revoke_approval',
  'run_mirror',
  'set_credential',
  'set_quota',
  'suspend',
] as const

export function isForbidden(action: unknown, model: 'reads' | 'manages'): boolean {
  const refused: readonly unknown[] = model === 'reads' ? [...forbidden, ...changing] : forbidden
  return refused.includes(action)
}
