import { ask } from './http.js'
import { until } from './until.js'

/** Waits until a node's state queue has its root, and nobody works on it any more. */
export async function initialised(url: string): Promise<void> {
  await until(async () => {
    const { status, body } = await ask(`${url}/stateQueue/root-unit-diagnostics`)
    if (status !== 200) return false
    const diagnostics = JSON.parse(body)
    return diagnostics.status === 'ok' && !diagnostics.resetInProgress
  })
}
