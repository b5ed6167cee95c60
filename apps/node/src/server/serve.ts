import { httpErrors, serverLimits } from '@ratatosk/http'
import type { Node } from '../node.js'
import type { PluginRow } from '../plugins/row.js'
import { limitsOf } from './create-server.js'
import { allowOrigins } from './cross-origin.js'
import { landingPage } from './landing-page.js'
import { listen } from './listen.js'
import { limitLoad } from './load-limits.js'
import { identifyRequests, linkErrors } from './requests.js'

/** Registers the plugins of the role, and listens; returns the base URL. @throws StartError `NODE_LISTEN` */
export async function serve(node: Node, plugins: readonly PluginRow[]): Promise<string> {
  const { server, settings, duties, log } = node
  log.info('Start: registering the routes')
  identifyRequests(server, settings)
  linkErrors(server)
  // First, so that pages can read the error bodies of what follows.
  await allowOrigins(server, settings)
  await server.register(serverLimits, limitsOf(settings))
  await server.register(httpErrors)
  await limitLoad(server, settings)
  landingPage(server)
  for (const { when, register } of plugins) {
    if (when(duties, settings)) await register(node)
  }
  return listen(server, settings)
}
