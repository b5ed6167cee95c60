export type { Shell } from './frame/command.js'
export { runCli } from './run-cli.js'
