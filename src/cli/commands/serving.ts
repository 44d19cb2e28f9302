import type { Command } from 'commander'

/** Ways to run the gateway, or to reach one. */
export function addServing(program: Command): void {
  program
    .command('serve')
    .description('run the gateway: REST, envelopes, JSON-RPC, MCP, A2A')
    .action(async () => (await import('../serve.ts')).serve(program.opts().json === true))

  program
    .command('mcp')
    .option('--manage', 'let the model publish, change and delete what you own; never with admin rights')
    .description('serve MCP over standard input and output, for an MCP host to start')
    .action(async (options) => (await import('../mcp.ts')).mcp(options))

  program
    .command('connect')
    .argument('<url>', 'an MCP endpoint: ws, wss, http or https')
    .option('--token <token>', 'token or API key for the endpoint; DRAGOMAN_TOKEN when left out')
    .option(
      '--header <name=value>',
      'header that is sent with each request; may be given again',
      (header, all: string[] = []) => [...all, header],
    )
    .description('connect an MCP host that can only start its servers to an MCP endpoint elsewhere')
    .action(async (url: string, options) => (await import('../connect.ts')).connect(url, options))
}
