/** What the `limiter` command is made of; reading it is reading the API. */
export { AXES, type Axis } from './axes.js';
export { DEMO_LOG } from './demo.js';
export { ReplayError, type ReplayErrorCode } from './errors.js';
export { type LimitSpec, parseLimitText, parseLimitTexts } from './limit-text.js';
export { type LogRequest, lineParser, type ParseLine, type Unreadable } from './parse-line.js';
export { type Progress, type ReplayOptions, replay } from './replay.js';
export type {
  LimitReport,
  LinesOfOneKind,
  Moment,
  OverTime,
  Peak,
  Place,
  Refusals,
  ReplayReport,
  Total,
  WorstClient,
} from './report.js';
export type { Oddity } from './request-line.js';
