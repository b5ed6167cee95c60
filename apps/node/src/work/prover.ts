import { type OpenProver, openProver as open } from '@ratatosk/sequencer/roots'
import { present } from '../context.js'
import type { Node } from '../node.js'

/** Opens the prover of blocks, over the roots that this process's sequencer keeps. */
export function openProver({ store, roots, genesis, settlement, onClose }: Node): OpenProver {
  const prover = open({
    store,
    roots: present(roots, 'sequencer'),
    genesis: genesis?.outputs ?? [],
    bridge: settlement?.contracts.bridge?.place.script.hash,
  })
  onClose(() => prover.close())
  return prover
}
