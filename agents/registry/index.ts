import { type Agent, defineAgent } from '../../schemas/action.ts'
import { registryName } from '../../schemas/names.ts'
import { audit } from './audit.ts'
import { check } from './check.ts'
import { completeName } from './complete-name.ts'
import { createKey } from './create-key.ts'
import { connectAgent, deleteCredential, listCredentials, setCredential } from './credentials.ts'
import { deleteKey } from './delete-key.ts'
import { deprecate } from './deprecate.ts'
import { diffVersions } from './diff-versions.ts'
import { getAgent } from './get-agent.ts'
import { getCallHistory } from './get-call-history.ts'
import { getCard, getExtendedCard } from './get-card.ts'
import { getLivenessHistory } from './get-liveness-history.ts'
import { getStatus } from './get-status.ts'
import { importEntries } from './import-entries.ts'
import { installConfig } from './install-config.ts'
import { listEvents } from './list-events.ts'
import { listKeys } from './list-keys.ts'
import { listVersions } from './list-versions.ts'
import { addMirror, listMirrors, removeMirror, runMirror } from './mirrors.ts'
import { approvePackage, listApprovals, revokeApproval } from './packages.ts'
import { deletePersonalData, getPersonalData } from './personal-data.ts'
import type { RegistryPorts } from './port.ts'
import { publish } from './publish.ts'
import { getIcon, getReadme } from './publisher-files.ts'
import { purge } from './purge.ts'
import { getUsage, listQuotas, setQuota } from './quotas.ts'
import { report } from './report.ts'
import { resolvePackage } from './resolve-package.ts'
import { revoke } from './revoke.ts'
import { search, searchAgents } from './search-agents.ts'
import {
  getServer,
  listServers,
  listServerVersions,
  logInByDomain,
  publishServer,
  setServerStatus,
  validateServer,
} from './servers.ts'
import { suggest } from './suggest.ts'
import { listSuspensions, suspend } from './suspend.ts'
import { acceptTransfer, listTransfers, transfer } from './transfers.ts'
import { goLive, remove, unpublish } from './transitions.ts'
import { update } from './update.ts'
import { validate } from './validate.ts'
import { claim, verify } from './verify.ts'
import { watchChanges } from './watch-changes.ts'
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, updateWebhook } from './webhooks.ts'

/** The registry as an agent. */
export function createRegistryAgent(ports: RegistryPorts): Agent {
  const { registry, identity, credentials, webhooks, quotas, mirrors, packages } = ports
  return defineAgent({
    package_name: registryName,
    name: 'Dragoman registry',
    description:
      'A public registry of software agents: finds agents from natural-language intent and resolves package names to agent cards.',
    tags: ['registry', 'discovery', 'search'],
    category: 'utilities',
    target: 'developer',
    actions: [
      searchAgents(registry, packages),
      resolvePackage(registry, packages),
      search(registry, packages),
      completeName(registry),
      suggest(registry),
      getAgent(registry),
      listVersions(registry),
      diffVersions(registry),
      getLivenessHistory(registry),
      installConfig(registry),
      getReadme(registry),
      getIcon(registry),
      getCard(registry),
      getExtendedCard(registry),
      publish(registry),
      update(registry),
      goLive(registry),
      unpublish(registry),
      remove(registry),
      validate(registry),
      verify(registry),
      claim(registry),
      transfer(registry),
      acceptTransfer(registry),
      listTransfers(registry),
      suspend(registry),
      listSuspensions(registry),
      deprecate(registry),
      report(registry),
      audit(registry),
      listEvents(registry),
      getCallHistory(registry),
      purge(registry),
      getPersonalData(registry),
      deletePersonalData(registry),
      watchChanges(ports.changes),
      check(registry),
      importEntries(registry),
      createKey(identity),
      listKeys(identity),
      deleteKey(identity),
      revoke(identity),
      setCredential(credentials),
      listCredentials(credentials),
      deleteCredential(credentials),
      connectAgent(ports.connect),
      createWebhook(webhooks),
      listWebhooks(webhooks),
      getWebhook(webhooks),
      updateWebhook(webhooks),
      deleteWebhook(webhooks),
      getUsage(quotas),
      listQuotas(quotas),
      setQuota(quotas),
      listServers(registry.servers),
      listServerVersions(registry.servers),
      getServer(registry.servers),
      addMirror(mirrors),
      listMirrors(mirrors),
      runMirror(mirrors),
      removeMirror(mirrors),
      validateServer(registry.servers),
      publishServer(registry.servers),
      setServerStatus(registry.servers),
      logInByDomain(ports.logins),
      approvePackage(packages),
      listApprovals(packages),
      revokeApproval(packages),
      getStatus(ports.status),
    ],
  })
}
