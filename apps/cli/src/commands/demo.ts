import { command } from '../frame/command.js'
import { UsageError } from '../frame/errors.js'
import { nodeArguments } from '../frame/node-connection.js'

const stories = ['payment', 'fraud']
const urlDescription = 'The node. Default: from HOST and PORT; if none answers there, the demo starts one'

export const demo = command(
  'demo',
  'Follow payments on a devnet until their block is merged, or a fraud until its operator is slashed',
  {
    story: {
      type: 'positional',
      required: false,
      default: 'payment',
      description: '`payment`; or `fraud`, on nodes of its own: an operator steals, and loses its bond',
    },
    ...nodeArguments,
    url: { ...nodeArguments.url, description: urlDescription },
  },
  async (args, shell) => {
    const { story: name, json, url } = args
    if (!stories.includes(name))
      throw new UsageError(`There is no demo "${name}": choose ${stories.join(' or ')}.`)
    if (name === 'fraud' && url !== undefined)
      throw new UsageError('`demo fraud` starts nodes of its own: leave out --url.')
    const { createStory } = await import('../demo/story.js')
    const story = createStory(json ? () => undefined : shell.write)
    const { tellFraud, tellPayment } = await import('../demo/tell.js')
    const value = await (name === 'fraud' ? tellFraud : tellPayment)(args, shell, story)
    return json ? { value, lines: [] } : undefined
  },
)
