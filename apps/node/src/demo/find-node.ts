import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Rejection } from '@ratatosk/store'
import { readSettings } from '../settings/read.js'
import { startNode } from '../start-node.js'
import { NodeClient } from './node-client.js'
import type { Story } from './story.js'

/** A node to tell the story on. */
export interface StoryNode {
  readonly client: NodeClient
  /** Looks a dead letter up by its submission's id; only into a node that runs in this process. */
  readonly deadLetter?: (submissionId: string) => Promise<Rejection | undefined>
  close(): Promise<void>
}

/**
 * The node at RATATOSK_URL; else the one at the default address, or, where none answers, one of its own in a
 * directory that goes away with it.
 */
export async function findNode(story: Story): Promise<StoryNode> {
  const { RATATOSK_URL, PORT } = process.env
  const url = (RATATOSK_URL || `http://127.0.0.1:${PORT || '3000'}`).replace(/\/$/, '')
  const client = new NodeClient(url)
  if (await client.isAlive()) {
    story.say(`The node at ${url} is up.`)
    return { client, close: async () => undefined }
  }
  if (RATATOSK_URL)
    throw new Error(`No node answers at ${url}, which RATATOSK_URL names. \`npm start\` starts one.`)
  story.say(`No node answers at ${url}: this demo starts one of its own, for as long as it runs.`)
  return startOwn(story)
}

async function startOwn(story: Story): Promise<StoryNode> {
  const directory = await mkdtemp(join(tmpdir(), 'ratatosk-demo-'))
  const cleanUp = () => rm(directory, { recursive: true, force: true })
  try {
    const node = await startNode(readSettings({ DATA_DIR: directory, PORT: '0', LOG_LEVEL: 'error' }))
    story.say(`It is up at ${node.url}.`)
    return {
      client: new NodeClient(node.url),
      deadLetter: (id) => node.store.rejections.find(id),
      close: async () => {
        await node.close()
        await cleanUp()
      },
    }
  } catch (error) {
    await cleanUp()
    throw error
  }
}
