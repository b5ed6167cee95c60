export { type OpenArchivistOptions, openArchivist } from './archivist.js'
export { audit } from './audit.js'
export type {
  AuditOptions,
  AuditProgress,
  AuditReport,
  BlockJudge,
  BlockSource,
  Finding,
  FindingKind,
  GenesisOutput,
  HeldOutput,
  JudgedBlock,
  NamedHeader,
  NodePlace,
  NodeSource,
  QueueReading,
  QueueSource,
  RuleBreach,
  Unchecked,
} from './types.js'
