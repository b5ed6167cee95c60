import { command } from '../frame/command.js'
import { UsageError } from '../frame/errors.js'
import { nodeArguments } from '../frame/node-connection.js'

const stories = ['payment', 'fraud', 'bridge']
const urlDescription = 'The node. Default: from HOST and PORT; if none answers there, the demo starts one'

export const demo = command(
  'demo',
  'Follow payments on a devnet until their block is merged, a fraud until its operator is slashed, or ' +
    'money over the bridge and back',
  {
    story: {
      type: 'positional',
      required: false,
      default: 'payment',
      description:
        '`payment`; or, on nodes of its own, `fraud`: an operator steals, and loses its bond; or `bridge`: ' +
        'ada come from layer 1, and return',
    },
    ...nodeArguments,
    url: { ...nodeArguments.url, description: urlDescription },
  },
  async (args, shell) => {
    const { story: name, json, url } = args
    if (!stories.includes(name))
      throw new UsageError(`There is no demo "${name}": choose payment, fraud or bridge.`)
    if (name !== 'payment' && url !== undefined)
      throw new UsageError(`\`demo ${name}\` starts nodes of its own: leave out --url.`)
    const { createStory } = await import('../demo/story.js')
    const story = createStory(json ? () => undefined : shell.write)
    const { tellBridge, tellFraud, tellPayment } = await import('../demo/tell.js')
    const tell = name === 'fraud' ? tellFraud : name === 'bridge' ? tellBridge : tellPayment
    const value = await tell(args, shell, story)
    return json ? { value, lines: [] } : undefined
  },
)
