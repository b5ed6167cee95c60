import type { BlockSource } from '@ratatosk/audit'
import type { Deployment } from '@ratatosk/node'
import type { Shell } from '../frame/command.js'
import { CommandError, UsageError } from '../frame/errors.js'
import { configArgument, withConfigFile } from '../frame/files.js'
import { visible } from '../frame/text.js'

/** Options of a command that judges a deployment from layer 1 and an archivist. */
export const deploymentArguments = {
  ...configArgument,
  archivist: {
    type: 'string',
    valueHint: 'url',
    description: 'Serves the blocks. Default: the first of ARCHIVIST_PEERS',
  },
} as const

interface JudgedDeployment extends Deployment {
  readonly archivist: BlockSource
  /** Base URL. */
  readonly archivistUrl: string
}

/** The deployment that the settings describe. @throws UsageError or CommandError */
export async function readDeployment(
  { config, archivist }: { readonly config?: string | undefined; readonly archivist?: string | undefined },
  { environment: own }: Shell,
): Promise<JudgedDeployment> {
  const environment = await withConfigFile(config, own)
  const archivistUrl = archivist ?? environment.ARCHIVIST_PEERS?.split(',')[0]?.trim()
  if (!archivistUrl)
    throw new UsageError(
      'Name an archivist: --archivist http://127.0.0.1:3000/archivist for the blocks of a node.',
    )
  if ((environment.LAYER1_PROVIDER || 'devnet') === 'devnet')
    throw new CommandError(
      'CLI_SETTINGS',
      'This command reads layer 1: set LAYER1_PROVIDER=blockfrost and BLOCKFROST_URL, which for the devnet ' +
        'of a node with DEVNET_PORT=1337 is http://127.0.0.1:1337/blockfrost/api/v0.',
    )
  const [{ isSettingsError, openDeployment, readSettings }, { openArchivist }, { expectQueue }] =
    await Promise.all([import('@ratatosk/node'), import('@ratatosk/audit'), import('./absent-queue.js')])
  try {
    const { header, body } = openArchivist(archivistUrl)
    // An archivist needs just what is needed here.
    const settings = readSettings({
      ...environment,
      NODE_ROLE: 'archivist',
      ARCHIVIST_PEERS: archivistUrl,
      // It serves nothing, and opens no store.
      OPERATOR_OPEN: 'true',
      DATABASE_READ_URL: undefined,
    })
    const deployment = await openDeployment(settings)
    const archive = `The archivist at ${archivistUrl}`
    const layer1 = `Layer 1 (${deployment.place})`
    const expected = expectQueue(deployment.place)
    const readQueue = guarded(layer1, deployment.readQueue)
    const readQueueAndBridge = guarded(layer1, deployment.readQueueAndBridge)
    return {
      ...deployment,
      readQueue: async (signal) => expected(await readQueue(signal)),
      readQueueAndBridge: async (signal) => expected(await readQueueAndBridge(signal)),
      archivistUrl,
      archivist: { header: guarded(archive, header), body: guarded(archive, body) },
    }
  } catch (error) {
    if (isSettingsError(error)) throw new CommandError('CLI_SETTINGS', error.problems.join('\n'))
    if (error instanceof TypeError && error.message.startsWith('@ratatosk/audit: '))
      throw new UsageError(`--archivist: ${error.message.replace('@ratatosk/audit: ', '')}.`)
    throw error
  }
}

/** Names the source that did not answer. @throws CommandError */
function guarded<Question extends unknown[], Answer>(
  source: string,
  ask: (...question: Question) => Promise<Answer>,
): (...question: Question) => Promise<Answer> {
  return async (...question) => {
    try {
      return await ask(...question)
    } catch (error) {
      // A fault of this program.
      if (!(error instanceof Error) || error instanceof TypeError) throw error
      throw new CommandError('CLI_UNAVAILABLE', `${source}: ${visible(error.message)}`)
    }
  }
}
