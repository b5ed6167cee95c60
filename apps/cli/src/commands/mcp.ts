import { once } from 'node:events'
import { command } from '../frame/command.js'
import { UsageError } from '../frame/errors.js'
import { connect, nodeArguments } from '../frame/node-connection.js'

/** `ratatosk mcp` */
export const mcp = command(
  'mcp',
  'Serve tools for a node by the Model Context Protocol on standard input and output',
  {
    ...nodeArguments,
    'devnet-url': {
      type: 'string',
      valueHint: 'url',
      description: 'Control API of the layer-1 devnet, such as http://127.0.0.1:8090/devnet',
    },
  },
  async (args, shell) => {
    const devnetUrl = args['devnet-url']?.replace(/\/$/, '')
    if (devnetUrl !== undefined && !/^https?:\/\//.test(devnetUrl))
      throw new UsageError('--devnet-url must be a URL such as http://127.0.0.1:8090/devnet.')
    const client = await connect(args, shell)
    const [{ mcpServer }, { StdioServerTransport }] = await Promise.all([
      import('../mcp/server.js'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
    ])
    const server = mcpServer({ client, devnetUrl })
    const ended = once(process.stdin, 'end')
    await server.connect(new StdioServerTransport())
    await ended
    await server.close()
    return undefined
  },
)
