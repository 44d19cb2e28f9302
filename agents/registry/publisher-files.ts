import { type Action, defineAction } from '../../schemas/action.ts'
import { AgentInput } from '../../schemas/publication.ts'
import { AgentIcon, Readme } from '../../schemas/publisher-file.ts'
import { input, output } from '../../schemas/shape.ts'
import { upstreamCallOf } from '../../src/common/upstream.ts'
import type { RegistryPort } from './port.ts'

export function getReadme(registry: RegistryPort): Action<AgentInput, Readme> {
  return defineAction({
    name: 'get_readme',
    title: 'Get the README of an agent',
    description: 'The README that the publisher of an agent wrote, as Markdown, read at its repository.',
    input: input(AgentInput),
    output: output(Readme),
    access: 'public',
    effect: 'read',
    advertised: false,
    hasForeign: () => true,
    run: ({ agent }, context) => registry.readme(agent, context.principal, upstreamCallOf(context)),
  })
}

export function getIcon(registry: RegistryPort): Action<AgentInput, AgentIcon> {
  return defineAction({
    name: 'get_icon',
    title: 'Get the icon of an agent',
    description: 'The icon of an agent as a square PNG, drawn anew from the picture of its publisher.',
    input: input(AgentInput),
    output: output(AgentIcon),
    access: 'public',
    effect: 'read',
    advertised: false,
    run: ({ agent }, context) => registry.icon(agent, context.principal, upstreamCallOf(context)),
  })
}
