declare const htm: { bind(create: (type: unknown, ...rest: unknown[]) => unknown): (strings: TemplateStringsArray, ...values: unknown[]) => any };
export default htm;
