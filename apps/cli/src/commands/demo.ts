import { command } from '../frame/command.js'
import { nodeArguments } from '../frame/node-connection.js'

const urlDescription = 'The node. Default: from HOST and PORT; if none answers there, the demo starts one'

/** `ratatosk demo` */
export const demo = command(
  'demo',
  'Send payments on a devnet, and follow them until their block is merged',
  { ...nodeArguments, url: { ...nodeArguments.url, description: urlDescription } },
  async (args, shell) => {
    const [{ findNode }, { runDemo }, { createStory }] = await Promise.all([
      import('../demo/find-node.js'),
      import('../demo/run-demo.js'),
      import('../demo/story.js'),
    ])
    const story = createStory(args.json ? () => undefined : shell.write)
    story.title('Ratatosk: a payment on layer 2, from submission to merge')
    const { client, isOwn, close } = await findNode(args, shell, story)
    try {
      const report = await runDemo(client, story)
      story.title('That is all. The demo can run again on the same node.\n')
      return args.json ? { value: { ...report, startedNode: isOwn }, text: '' } : undefined
    } finally {
      await close()
    }
  },
)
