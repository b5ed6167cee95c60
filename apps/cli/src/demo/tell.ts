import type { Shell } from '../frame/command.js'
import { type ConnectionOptions, connect } from '../frame/node-connection.js'
import { findNode } from './find-node.js'
import { runDemo } from './run-demo.js'
import type { Story } from './story.js'
import { openTemporaryFolder } from './temporary-folder.js'

/** Follows payments on a running node, or on one that it starts. @returns what happened */
export async function tellPayment(options: ConnectionOptions, shell: Shell, story: Story): Promise<object> {
  story.title('Ratatosk: a payment on layer 2, from submission to merge')
  const { client, isOwn, close } = await findNode(options, shell, story)
  try {
    const report = await runDemo(client, story)
    story.title('That is all. The demo can run again on the same node.\n')
    return { ...report, startedNode: isOwn }
  } finally {
    await close()
  }
}

/** Follows a fraud on nodes of its own. @returns what happened */
export async function tellFraud(options: ConnectionOptions, shell: Shell, story: Story): Promise<object> {
  story.title('Ratatosk: a fraud on layer 2, from the lie to the slashed bond')
  const folder = await openTemporaryFolder()
  try {
    const [{ runFraud }, { startNetwork }] = await Promise.all([
      import('./fraud/run-fraud.js'),
      import('./fraud/network.js'),
    ])
    story.say('The demo starts a devnet and three nodes, for as long as it runs.')
    const network = await startNetwork(folder.path, (url) => connect({ ...options, url }, shell))
    try {
      const report = await runFraud(network, story)
      story.title('That is all: the lie has cost its operator the bond, and no one else anything.\n')
      return report
    } finally {
      await network.close()
    }
  } finally {
    folder.remove()
  }
}
