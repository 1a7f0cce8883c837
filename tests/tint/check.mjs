// Asks Tint, the WGSL compiler of Dawn, what it thinks of shaders. No GPU is needed: Dawn's null backend runs the
// whole validation (types, uniformity of control flow around barriers, workgroup memory against the limit) and stops
// before code generation.
//
//   node check.mjs a.wgsl b.wgsl …      each file is a shader
//   node check.mjs < shaders.json       [{"name": …, "source": …}, …]
//
// The device has WebGPU's default limits: the null backend offers no more.
//
// Prints [{"name": …, "ok": …, "entryPoints": […], "messages": [{"type", "line", "column", "text"}, …]}, …] in the order
// asked. Exit: 0 when Tint was asked, whatever it said; 2 when it could not be asked, with the reason on stderr.

import { readFileSync } from 'node:fs';

/** Ends the program because Tint could not be asked. */
function giveUp(reason) {
  console.error(String(reason).split('\n')[0]);
  process.exit(2);
}

/** The shaders asked for, from the arguments or from stdin. */
function readRequests(args) {
  if (args.length > 0) return args.map((name) => ({ name, source: readFileSync(name, 'utf8') }));
  return JSON.parse(readFileSync(0, 'utf8'));
}

/**
 * The compute entry points that the text declares. Attributes may come in any order and on several lines, so comments
 * are blanked first and then each run of attributes before `fn` is looked at.
 */
function computeEntryPoints(source) {
  const text = source.replace(/\/\/[^\n]*/g, ' ').replace(/\/\*[\s\S]*?\*\//g, ' ');
  const found = [];
  const declaration = /((?:@\w+\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*)+)fn\s+([\p{XID_Start}_][\p{XID_Continue}]*)/gu;
  for (const [, attributes, name] of text.matchAll(declaration)) {
    if (/@compute\b/.test(attributes)) found.push(name);
  }
  return found;
}

/** Runs the module, its messages and its compute pipelines through Tint. */
async function check(device, { name, source }) {
  const messages = [];
  const complain = (text) => messages.push({ type: 'error', line: 0, column: 0, text });
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ label: name, code: source });
  for (const message of (await module.getCompilationInfo()).messages) {
    messages.push({ type: message.type, line: message.lineNum, column: message.linePos, text: message.message });
  }
  await device.popErrorScope(); // what it says is in the messages already, with lines

  const entryPoints = computeEntryPoints(source);
  if (!messages.some((message) => message.type === 'error')) {
    if (entryPoints.length === 0) complain('the text declares no compute entry point, so no pipeline was tried');
    for (const entryPoint of entryPoints) {
      device.pushErrorScope('validation');
      device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint } });
      const error = await device.popErrorScope();
      if (error) complain(`${entryPoint}: ${error.message.split('\n')[0]}`);
    }
  }
  return { name, ok: !messages.some((message) => message.type === 'error'), entryPoints, messages };
}

let requests;
try {
  requests = readRequests(process.argv.slice(2));
} catch (error) {
  giveUp(`the shaders cannot be read: ${error.message}`);
}

let webgpu;
try {
  webgpu = await import('webgpu');
} catch (error) {
  giveUp(`the npm package webgpu is not installed (npm ci in tests/tint): ${error.message}`);
}
// Dawn asks for the globals of WebGPU when it makes errors.
Object.assign(globalThis, webgpu.globals);

// Kept where the garbage collector finds it: Dawn frees its instance with this object, and what comes after then crashes
// or hangs.
globalThis.gpu = webgpu.create(['backend=null']);
const adapter = await globalThis.gpu.requestAdapter();
if (!adapter) giveUp('the null backend of Dawn gives no adapter');
const device = await adapter.requestDevice();

const results = [];
for (const request of requests) results.push(await check(device, request));
process.stdout.write(JSON.stringify(results) + '\n', () => process.exit(0));
