import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { Mirror, MirrorInput, MirrorName } from '../../schemas/mirror.ts'
import { input, output } from '../../schemas/shape.ts'
import type { MirrorsPort } from './port.ts'

const common = { access: { scope: 'admin' }, advertised: false } as const

export function addMirror(mirrors: MirrorsPort): Action<MirrorInput, Mirror> {
  return defineAction({
    ...common,
    name: 'add_mirror',
    title: 'Add a mirror',
    description:
      'Lists the agents of another registry or list here, and follows its changes. The word official names the official MCP registry.',
    input: input(MirrorInput),
    output: output(Mirror),
    effect: 'write',
    deadline_ms: 60_000,
    run: (request, { signal }) => mirrors.add(request, signal),
  })
}

const List = z.object({ mirrors: z.array(Mirror) })
type List = z.infer<typeof List>

export function listMirrors(mirrors: MirrorsPort): Action<Record<string, never>, List> {
  return defineAction({
    ...common,
    name: 'list_mirrors',
    title: 'List mirrors',
    description: 'The mirrors with their sources and their last runs.',
    input: input(z.strictObject({})),
    output: output(List),
    effect: 'read',
    run: async () => ({ mirrors: [...(await mirrors.list())] }),
  })
}

const Named = z.strictObject({ name: MirrorName })
type Named = z.infer<typeof Named>

export function runMirror(mirrors: MirrorsPort): Action<Named, Mirror> {
  return defineAction({
    ...common,
    name: 'run_mirror',
    title: 'Run a mirror',
    description:
      'Starts a run of a mirror now, without waiting for its end: list_mirrors shows how far it is.',
    input: input(Named),
    output: output(Mirror),
    effect: 'write',
    run: ({ name }) => mirrors.start(name),
  })
}

const Removed = z.object({
  removed: z.int().describe('Agents that are gone, with all that was stored for them.'),
  left: z.int().describe('Agents that stay, because they have an owner here.'),
})
type Removed = z.infer<typeof Removed>

export function removeMirror(mirrors: MirrorsPort): Action<Named, Removed> {
  return defineAction({
    ...common,
    name: 'remove_mirror',
    title: 'Remove a mirror',
    description: 'Removes a mirror and every agent that it listed, except those that have an owner here.',
    input: input(Named),
    output: output(Removed),
    effect: 'write',
    deadline_ms: 600_000,
    run: ({ name }) => mirrors.remove(name),
  })
}
