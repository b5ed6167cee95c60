import { openRemoteRoots } from '@ratatosk/sequencer'
import { type OpenProver, openProver as open, type Roots } from '@ratatosk/sequencer/roots'
import type { Node } from '../node.js'

/** Opens the prover of blocks, over the roots that a sequencer keeps: this process's, or the active one. */
export function openProver({ reads: store, queue, roots, genesis, settlement, onClose }: Node): OpenProver {
  const prover = open({
    store,
    roots: roots ?? activeRoots({ queue, onClose }),
    genesis: genesis?.outputs ?? [],
    bridge: settlement?.contracts.bridge?.place.script.hash,
  })
  onClose(() => prover.close())
  return prover
}

function activeRoots({ queue, onClose }: Pick<Node, 'queue' | 'onClose'>): Pick<Roots, 'root' | 'prove'> {
  const remote = openRemoteRoots({ queue })
  onClose(() => remote.close())
  return remote
}
