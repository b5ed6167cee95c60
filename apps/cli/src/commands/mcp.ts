import { command } from '../frame/command.js'
import { UsageError } from '../frame/errors.js'
import { connect, nodeArguments } from '../frame/node-connection.js'
import { visible } from '../frame/text.js'

export const mcp = command(
  'mcp',
  'Serve tools for a node by the Model Context Protocol on standard input and output',
  {
    ...nodeArguments,
    'devnet-url': {
      type: 'string',
      valueHint: 'url',
      description: 'Control API of the layer-1 devnet, such as http://127.0.0.1:3000/devnet',
    },
  },
  async (args, shell) => {
    const devnetUrl = args['devnet-url']?.replace(/\/$/, '')
    if (devnetUrl !== undefined && !/^https?:\/\//.test(devnetUrl))
      throw new UsageError('--devnet-url must be a URL such as http://127.0.0.1:3000/devnet.')
    const client = await connect(args, shell)
    const [{ mcpServer }, { LineTransport }] = await Promise.all([
      import('../mcp/server.js'),
      import('../mcp/line-transport.js'),
    ])
    const server = mcpServer({ client, devnetUrl })
    server.onerror = ({ message }) => shell.writeError(`${visible(message)}\n`)
    const transport = new LineTransport(process.stdin, process.stdout)
    await server.connect(transport)
    await transport.ended
    await server.close()
    return undefined
  },
)
