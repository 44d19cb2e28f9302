import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { input, output } from '../../schemas/shape.ts'
import { Status } from '../../schemas/status.ts'
import type { StatusPort } from './port.ts'

export function getStatus(status: StatusPort): Action<Record<string, never>, Status> {
  return defineAction({
    name: 'get_status',
    title: 'Read the state of the gateway',
    description:
      'The state of this gateway: its version, its store and index, the agents by how they are called and whether they answer, the mirrors, agents that are slow or fail, and the calls of the last day by hour. An admin sees more.',
    input: input(z.strictObject({})),
    output: output(Status),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: (_, { principal, signal }) => status.read(principal, signal),
  })
}
