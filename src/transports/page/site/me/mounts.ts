import type { Mount } from '../../../http/app.ts'
import type { Site } from '../site.ts'
import { agentsMounts } from './agents.ts'
import { connectionsMounts } from './connections.ts'
import { dataMounts } from './data.ts'
import { keysMounts } from './keys.ts'
import { manageMounts } from './manage.ts'
import { packagesMounts } from './packages.ts'
import { publishMounts } from './publish.ts'
import { verifyMounts } from './verify.ts'
import { webhooksMounts } from './webhooks.ts'

/** The pages of one's own. */
export function meMounts(site: Site): Mount[] {
  return [
    ...agentsMounts(site),
    ...manageMounts(site),
    ...publishMounts(site),
    ...verifyMounts(site),
    ...keysMounts(site),
    ...webhooksMounts(site),
    ...connectionsMounts(site),
    ...packagesMounts(site),
    ...dataMounts(site),
  ]
}
