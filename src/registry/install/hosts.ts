import type { ConfigFile, HostId } from '../../../schemas/install.ts'
import { claudeLine, codexLine, downloadLine, geminiLine, vscodeLine } from './host-lines.ts'
import {
  cursorLinks,
  gooseLinks,
  type Install,
  type Links,
  lmStudioLinks,
  vscodeLinks,
} from './host-links.ts'
import type { HostLaunch } from './launch.ts'
import {
  blank,
  codexServer,
  gooseServer,
  type PlaceOf,
  type Server,
  typedServer,
  untypedServer,
  variables,
} from './server-forms.ts'

/** One host: where its configuration is, what it can run, and how it writes a server. */
export interface Host {
  readonly id: HostId
  readonly title: string
  readonly format: 'json' | 'toml' | 'yaml'
  readonly key: string
  readonly files: readonly ConfigFile[]
  readonly kinds: readonly HostLaunch['kind'][]
  /** How its user signs in at a server that asks for it (MCP, Authorization), given the name of the server. */
  readonly sign_in?: (name: string) => string
  /** How values of the user come into it. */
  readonly values: 'prompt' | 'variable' | 'blank'
  server(install: Install): Server
  line?(install: Install, server: Server): string | undefined
  links?(install: Install, server: Server): Links | undefined
  /** What to do instead, where it cannot run the server. */
  readonly otherwise?: string
}

const http = ['streamable-http', 'sse'] as const
const everyKind = [...http, 'stdio'] as const

const atFirstConnection = (title: string) => () => `${title} opens a page to sign in at the first connection.`

const prompts: PlaceOf = ({ id }) => `\${input:${id}}`
const cursorVariables = variables((name) => `\${env:${name}}`)
const shellVariables = variables((name) => `\${${name}}`)
/** Claude Code takes a default after `:-`. */
const claudeVariables: PlaceOf = ({ variable, required, default: usual }) => {
  if (usual !== undefined) return usual.includes('}') ? usual : `\${${variable}:-${usual}}`
  return required ? `\${${variable}}` : `\${${variable}:-}`
}

function windsurfServer(launch: HostLaunch): Server {
  const { url, ...server } = untypedServer(launch, cursorVariables)
  return url === undefined ? server : { serverUrl: url, ...server }
}

function everywhere(scope: ConfigFile['scope'], path: string): ConfigFile {
  return { scope, system: 'all', path }
}

function userFiles(linux: string, macos: string, windows: string): ConfigFile[] {
  return [
    { scope: 'user', system: 'linux', path: linux },
    { scope: 'user', system: 'macos', path: macos },
    { scope: 'user', system: 'windows', path: windows },
  ]
}

function vscode(id: HostId, title: string, folder: string, program: string, scheme: string): Host {
  return {
    id,
    title,
    format: 'json',
    key: 'servers',
    files: [
      ...userFiles(
        `~/.config/${folder}/User/mcp.json`,
        `~/Library/Application Support/${folder}/User/mcp.json`,
        `%APPDATA%\\${folder}\\User\\mcp.json`,
      ),
      everywhere('project', '.vscode/mcp.json'),
    ],
    kinds: everyKind,
    sign_in: atFirstConnection(title),
    values: 'prompt',
    server: ({ launch }) => typedServer(launch, prompts),
    line: (install, server) => vscodeLine(program, install, server),
    links: (install, server) => vscodeLinks(scheme, install, server),
  }
}

/** Every host. Rows follow each host's own documentation; the tests read each result as the host does. */
export const hosts: readonly Host[] = [
  vscode('vscode', 'VS Code', 'Code', 'code', 'vscode'),
  vscode('vscode-insiders', 'VS Code Insiders', 'Code - Insiders', 'code-insiders', 'vscode-insiders'),
  {
    id: 'cursor',
    title: 'Cursor',
    format: 'json',
    key: 'mcpServers',
    files: [everywhere('user', '~/.cursor/mcp.json'), everywhere('project', '.cursor/mcp.json')],
    kinds: everyKind,
    sign_in: atFirstConnection('Cursor'),
    values: 'variable',
    server: ({ launch }) => untypedServer(launch, cursorVariables),
    links: cursorLinks,
  },
  {
    id: 'claude-code',
    title: 'Claude Code',
    format: 'json',
    key: 'mcpServers',
    files: [everywhere('user', '~/.claude.json'), everywhere('project', '.mcp.json')],
    kinds: everyKind,
    sign_in: (name) => `To sign in, run claude mcp login ${name}, or /mcp in a session.`,
    values: 'variable',
    server: ({ launch }) => typedServer(launch, claudeVariables),
    line: ({ name, launch }) => claudeLine(name, launch, claudeVariables),
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    format: 'json',
    key: 'mcpServers',
    files: userFiles(
      '~/.config/Claude/claude_desktop_config.json',
      '~/Library/Application Support/Claude/claude_desktop_config.json',
      '%APPDATA%\\Claude\\claude_desktop_config.json',
    ),
    kinds: ['stdio', 'bundle'],
    values: 'blank',
    server: ({ launch }) => untypedServer(launch, blank),
    line: ({ name, launch }) => (launch.kind === 'bundle' ? downloadLine(name, launch) : undefined),
    otherwise:
      'Its file takes only servers that it starts itself. Add the address as a custom connector under Settings, Connectors; this works for addresses that are reached from the internet and need a sign-in or no credential.',
  },
  {
    id: 'codex',
    title: 'Codex',
    format: 'toml',
    key: 'mcp_servers',
    files: [everywhere('user', '~/.codex/config.toml'), everywhere('project', '.codex/config.toml')],
    kinds: ['streamable-http', 'stdio'],
    sign_in: (name) => `To sign in, run codex mcp login ${name}.`,
    values: 'variable',
    server: ({ launch }) => codexServer(launch),
    line: ({ name, launch }) => codexLine(name, launch),
  },
  {
    id: 'gemini-cli',
    title: 'Gemini CLI',
    format: 'json',
    key: 'mcpServers',
    files: [everywhere('user', '~/.gemini/settings.json'), everywhere('project', '.gemini/settings.json')],
    kinds: everyKind,
    sign_in: (name) => `To sign in, run /mcp auth ${name} in a session.`,
    values: 'variable',
    server: ({ launch }) =>
      launch.kind === 'stdio' ? untypedServer(launch, shellVariables) : typedServer(launch, shellVariables),
    line: ({ name, launch }) => geminiLine(name, launch, shellVariables),
  },
  {
    id: 'lm-studio',
    title: 'LM Studio',
    format: 'json',
    key: 'mcpServers',
    files: [everywhere('user', '~/.lmstudio/mcp.json')],
    kinds: ['streamable-http', 'stdio'],
    values: 'blank',
    server: ({ launch }) => untypedServer(launch, blank),
    links: lmStudioLinks,
  },
  {
    id: 'goose',
    title: 'Goose',
    format: 'yaml',
    key: 'extensions',
    files: userFiles(
      '~/.config/goose/config.yaml',
      '~/.config/goose/config.yaml',
      '%APPDATA%\\Block\\goose\\config\\config.yaml',
    ),
    kinds: ['streamable-http', 'stdio'],
    values: 'variable',
    server: ({ launch, name, title }) => gooseServer(launch, name, title),
    links: gooseLinks,
  },
  {
    id: 'zed',
    title: 'Zed',
    format: 'json',
    key: 'context_servers',
    files: [
      ...userFiles(
        '~/.config/zed/settings.json',
        '~/.config/zed/settings.json',
        '%APPDATA%\\Zed\\settings.json',
      ),
      everywhere('project', '.zed/settings.json'),
    ],
    kinds: ['streamable-http', 'stdio'],
    sign_in: atFirstConnection('Zed'),
    values: 'blank',
    server: ({ launch }) => untypedServer(launch, blank),
  },
  {
    id: 'windsurf',
    title: 'Windsurf',
    format: 'json',
    key: 'mcpServers',
    files: [everywhere('user', '~/.codeium/windsurf/mcp_config.json')],
    kinds: everyKind,
    sign_in: atFirstConnection('Windsurf'),
    values: 'variable',
    server: ({ launch }) => windsurfServer(launch),
  },
  {
    id: 'json',
    title: 'Other hosts',
    format: 'json',
    key: 'mcpServers',
    files: [],
    kinds: everyKind,
    values: 'blank',
    server: ({ launch }) => typedServer(launch, blank),
  },
]
