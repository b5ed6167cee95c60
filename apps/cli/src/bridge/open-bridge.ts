import type { Bridge, Client } from '@ratatosk/client'
import { CommandError } from '../frame/errors.js'
import { visible } from '../frame/plain-text.js'

/** The bridge of a node. @throws CommandError if it is not the wanted one */
export async function openBridge(client: Client, wanted: string | undefined): Promise<Bridge> {
  const bridge = await client.getBridge()
  if (wanted === undefined || bridge.address === wanted) return bridge
  throw new CommandError('CLI_OTHER_BRIDGE', `The bridge of the node is ${visible(bridge.address)}.`)
}
