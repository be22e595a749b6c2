// Opens a report in headless Chromium and looks for what a page must not have; writes its screenshots.
//
//   node judge.mjs PAGE.html [SCREENSHOTS/]
//
// Fails on a console message, an error, a request beside the page itself, content wider than the window, or a violation
// that axe-core finds, at 1280 and 390 pixels, in light and dark, and on paper.
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [page_file, folder] = process.argv.slice(2);
const address = pathToFileURL(resolve(page_file)).href;
const faults = [];

const megabytes = statSync(page_file).size / 1e6;
console.log(`${page_file}: ${megabytes.toFixed(2)} MB`);
if (megabytes > 3) faults.push(`${megabytes.toFixed(2)} MB is more than 3`);

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--force-device-scale-factor=1"],
});
console.log(await browser.version());
for (const width of [1280, 390]) {
  for (const scheme of ["light", "dark"]) {
    const where = `${width} px, ${scheme}`;
    const page = await browser.newPage();
    page.on("console", (message) => faults.push(`${where}: console: ${message.text()}`));
    page.on("pageerror", (error) => faults.push(`${where}: ${error.message}`));
    page.on("request", (request) => {
      if (request.url() !== address) faults.push(`${where}: asks for ${request.url().slice(0, 80)}`);
    });
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(address, { waitUntil: "load" });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (wide > 0) faults.push(`${where}: ${wide} px wider than the window`);
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    for (const { id, help, nodes } of found.violations) {
      faults.push(`${where}: axe ${id}: ${help} (${nodes.length}, such as ${nodes[0].html.slice(0, 120)})`);
    }
    console.log(`${where}: axe ${found.testEngine.version}, ${found.violations.length} violations`);
    if (folder) {
      await page.screenshot({ path: join(folder, `report-${width}-${scheme}.png`), fullPage: true });
      const clip = { x: 0, y: 0, width, height: 1900 };
      if (width === 1280) await page.screenshot({ path: join(folder, `report-${scheme}.png`), clip });
    }
    await page.close();
  }
}
const paper = await browser.newPage();
await paper.goto(address, { waitUntil: "load" });
const pdf = await paper.pdf({ format: "A4", printBackground: true });
console.log(`on paper: ${(pdf.length / 1e6).toFixed(2)} MB of PDF`);
await browser.close();
for (const fault of faults) console.error(`fault: ${fault}`);
process.exit(faults.length ? 1 : 0);
