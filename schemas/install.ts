import { z } from 'zod'

/** The programs that people give MCP servers to. */
export const hostIds = [
  'vscode',
  'vscode-insiders',
  'cursor',
  'claude-code',
  'claude-desktop',
  'codex',
  'gemini-cli',
  'lm-studio',
  'goose',
  'zed',
  'windsurf',
  'json',
] as const
export const HostId = z.enum(hostIds).meta({ id: 'HostId' })
export type HostId = z.infer<typeof HostId>

/** A value that the user has to give. */
export const InstallNeed = z
  .object({
    id: z.string().describe('Id of the prompt, in hosts that ask for values.'),
    variable: z
      .string()
      .describe('Environment variable that holds the value, in hosts that read it from their environment.'),
    part: z.enum(['environment', 'header', 'argument', 'url']).describe('Where the value goes.'),
    name: z.string().describe('Name of the environment variable, header, argument or part of the address.'),
    description: z.string().describe('Text of the publisher.'),
    secret: z.boolean(),
    required: z.boolean().describe('False if the server also starts without the value.'),
    default: z.string().optional().describe('Value that counts if the user gives none.'),
    placeholder: z.string().optional().describe('Example of a value.'),
    choices: z.array(z.string()).optional(),
  })
  .meta({ id: 'InstallNeed' })
export type InstallNeed = z.infer<typeof InstallNeed>

export const ConfigFile = z
  .object({
    scope: z.enum(['user', 'project']),
    system: z.enum(['linux', 'macos', 'windows', 'all']),
    path: z.string().describe('Path of the file: ~ is the home folder, %APPDATA% the folder of that name.'),
  })
  .meta({ id: 'ConfigFile' })
export type ConfigFile = z.infer<typeof ConfigFile>

/** What to paste or to run for one host. */
export const HostInstall = z
  .object({
    host: HostId,
    title: z.string(),
    reason: z.string().nullable().describe('Why this host cannot run it; null if it can.'),
    files: z.array(ConfigFile).describe("Where the host's configuration is."),
    format: z.enum(['json', 'toml', 'yaml']).nullable(),
    key: z.string().nullable().describe('Member of the file that holds the servers.'),
    config: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The piece of the file as data: the servers by name, and the prompts if there are any.'),
    text: z.string().nullable().describe('The piece of the file as text, to paste.'),
    command: z
      .string()
      .nullable()
      .describe('Line for a POSIX shell that adds the server; null if there is none.'),
    link: z
      .string()
      .nullable()
      .describe('Link that opens the host and adds the server; null if there is none.'),
    web_link: z.string().nullable().describe('The same link for web pages that only allow https.'),
    note: z.string().nullable().describe('What the user has to do beside it.'),
  })
  .meta({ id: 'HostInstall' })
export type HostInstall = z.infer<typeof HostInstall>

export const TargetKind = z.enum(['remote', 'package', 'gateway']).meta({ id: 'TargetKind' })
export type TargetKind = z.infer<typeof TargetKind>

const targetShape = {
  target: z
    .string()
    .describe(
      'remote: the address of the agent; package: its package; gateway: through this gateway. The second remote is remote-2.',
    ),
  kind: TargetKind,
  title: z.string(),
}

const InstallTarget = z
  .object({
    ...targetShape,
    start: z
      .string()
      .nullable()
      .describe('Line for a POSIX shell that starts the server, if hosts only connect to it.'),
    needs: z.array(InstallNeed).describe('Values that the user has to give.'),
    optional: z.array(InstallNeed).describe('Values that may be set, and that the configurations leave out.'),
    notes: z.array(z.string()),
    hosts: z.array(HostInstall),
  })
  .meta({ id: 'InstallTarget' })
export type InstallTarget = z.infer<typeof InstallTarget>

const RefusedTarget = z
  .object({
    ...targetShape,
    code: z.string().describe('Stable code of the refusal.'),
    pointer: z.string().describe('JSON Pointer to the member of the entry that is refused.'),
    reason: z.string(),
    hint: z.string().nullable().describe('What to do.'),
  })
  .meta({ id: 'RefusedTarget' })
export type RefusedTarget = z.infer<typeof RefusedTarget>

/** How to install an agent. */
export const InstallConfig = z
  .object({
    package_name: z.string(),
    name: z.string().describe('Name of the server in the configurations.'),
    targets: z.array(InstallTarget).describe('What can be installed, the most direct first.'),
    refused: z
      .array(RefusedTarget)
      .describe('What the entry states and cannot be installed, with the reasons.'),
  })
  .meta({ id: 'InstallConfig' })
export type InstallConfig = z.infer<typeof InstallConfig>
