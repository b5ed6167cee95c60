export { type BreakableProxy, breakableProxy } from './breakable-proxy.js'
export {
  databaseUrl,
  inDatabase,
  randomName,
  redisUrl,
  removeKeys,
  type Service,
  whyMissing,
  withRedis,
} from './services.js'
