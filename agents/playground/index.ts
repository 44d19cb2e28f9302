import { type Agent, defineAgent } from '../../schemas/action.ts'
import { createSession } from './create-session.ts'
import { deleteSession } from './delete-session.ts'
import { discover } from './discover.ts'
import { execute } from './execute.ts'
import { exportSession } from './export-session.ts'
import { getSession } from './get-session.ts'
import type { PlaygroundNeeds } from './port.ts'
import { watchSession } from './watch-session.ts'

/** Lets every caller try the registry: a session, a search, a call, and an export of the calls as code. */
export function createPlayground(needs: PlaygroundNeeds): Agent {
  const { sessions } = needs
  return defineAgent({
    package_name: 'svc.playground',
    name: 'Playground',
    description: 'Create a session, discover agents, execute a capability, and export the calls as code.',
    tags: ['playground'],
    listed: false,
    actions: [
      createSession(sessions),
      discover(needs),
      execute(needs),
      getSession(sessions),
      watchSession(needs),
      exportSession(needs),
      deleteSession(sessions),
    ],
  })
}
