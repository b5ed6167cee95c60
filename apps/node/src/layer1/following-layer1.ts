import type { Layer1 } from '@ratatosk/layer1'

/** A layer 1 that is asked for anew at each call, because where it is may change. */
export function followingLayer1(
  name: string,
  networkId: Layer1['networkId'],
  current: () => Promise<Layer1>,
): Layer1 {
  return {
    name,
    networkId,
    utxosAt: async (...call) => (await current()).utxosAt(...call),
    utxosByUnit: async (...call) => (await current()).utxosByUnit(...call),
    utxosByReferences: async (...call) => (await current()).utxosByReferences(...call),
    parameters: async (...call) => (await current()).parameters(...call),
    tip: async (...call) => (await current()).tip(...call),
    slots: async (...call) => (await current()).slots(...call),
    currentSlot: async (...call) => (await current()).currentSlot(...call),
    submit: async (...call) => (await current()).submit(...call),
    status: async (...call) => (await current()).status(...call),
    await: async (...call) => (await current()).await(...call),
    evaluate: async (...call) => (await current()).evaluate(...call),
  }
}
